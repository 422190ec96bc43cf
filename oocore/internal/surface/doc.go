// Package surface holds what programs see of packages oocore, gonbext and cuda: names that
// they can reach, and no more of them than a page shows.
package surface
