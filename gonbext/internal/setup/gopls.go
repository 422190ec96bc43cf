package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// goplsVersion is the latest that Go 1.26 builds.
const goplsVersion = "v0.23.0"

const goplsModule = "golang.org/x/tools/gopls@" + goplsVersion

// goplsDir is where BuildGopls puts gopls.
func goplsDir() (string, error) {
	cache, err := cacheDir()
	return filepath.Join(cache, "gopls-"+goplsVersion), err
}

// FindGopls returns the path of gopls, by which Tab and Shift-Tab know Go: that of PATH,
// else the one that BuildGopls has built.
func FindGopls() (string, error) {
	if path, err := exec.LookPath("gopls"); err == nil {
		return path, nil
	}
	if dir, err := goplsDir(); err == nil && complete(dir) {
		return filepath.Join(dir, "gopls"), nil
	}
	return "", fmt.Errorf("gopls is not set up: run gonbext lab, or gonbext doctor --fix")
}

// BuildGopls builds gopls where there is none. It needs a network, once.
func BuildGopls(ctx context.Context, say Progress) error {
	if _, err := FindGopls(); err == nil {
		return nil
	}
	dir, err := goplsDir()
	if err != nil {
		return err
	}
	return once(ctx, dir, func() error {
		return step(say, "Building gopls "+goplsVersion+", by which Tab completes Go (once)", func() error {
			cmd := exec.CommandContext(ctx, "go", "install", goplsModule)
			cmd.Dir = Elsewhere() // outside of any module
			cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("build gopls: %w: %s", err, lastLine(string(out)))
			}
			return nil
		})
	})
}

// WarmCells compiles what cells import, so that the first cell does not have to.
func WarmCells(ctx context.Context, say Progress) error {
	source, err := Source()
	if err != nil {
		return err
	}
	tools, err := FindTools()
	if err != nil {
		return err
	}
	return step(say, "Compiling what cells import", func() error {
		cmd := exec.CommandContext(ctx, "go", "build", "./gonbext", "./oocore/decomp", "./oocore/filter", "./oocore/nn")
		cmd.Dir = source
		cmd.Env = tools.Env(os.Environ())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile what cells import: %w\n%s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})
}

// warmLimit is how long gopls may read this module.
const warmLimit = 3 * time.Minute

// WarmGopls lets gopls read this module once: it keeps what it has read, and answers the
// first Tab of a notebook from there.
func WarmGopls(ctx context.Context) error {
	gopls, err := FindGopls()
	if err != nil {
		return err
	}
	source, err := Source()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, gopls, "check", filepath.Join("gonbext", "doc.go"))
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("gopls: %w: %s", err, lastLine(string(out)))
	}
	return nil
}
