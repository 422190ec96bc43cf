// Package exprfuzz evaluates random expressions over every function that an expression
// can call, and every kind of array: each gives values or a clear error, in time and
// within its budget.
package exprfuzz
