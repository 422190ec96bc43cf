module github.com/gonbext/gonbext

go 1.26
