package linalg

// CholeskyPanels is Cholesky by panels of so many columns.
var CholeskyPanels = choleskyPanels
