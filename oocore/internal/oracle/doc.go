// Package oracle holds gonbext to NumPy: values, shapes and types of expressions
// that reference.py makes up, over every element type, layout and chunking.
package oracle
