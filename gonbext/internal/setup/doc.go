// Package setup finds what notebooks need beyond this binary (Go, GoNB,
// goimports, Python, JupyterLab, the kernel's entry in Jupyter) and sets it up:
// pinned, private to the user, in the user's cache folder, once.
package setup
