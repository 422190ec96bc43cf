// Package surface holds what readers see: packages oocore, gonbext and cuda name types that
// programs can reach, and the sources use the words of
// the field.
package surface
