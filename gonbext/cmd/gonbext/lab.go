package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
)

func newLab() *cobra.Command {
	var o labOptions
	c := &cobra.Command{
		Use:   "lab [DIR]",
		Short: "Open the lessons, or DIR, in JupyterLab",
		Long: `Opens the lessons, or DIR, in JupyterLab with the kernel "Go (gonbext)". What is
missing is set up, once, for your user alone: some minutes, of which the lessons are open
for the last. Ctrl-C ends it.`,
		Example: `  gonbext lab                        the lessons
  gonbext lab ~/notebooks
  gonbext lab --no-browser --ip 0.0.0.0    in a container whose port 8888 is published`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.dir = args[0]
			}
			return o.run(c.Context())
		},
	}
	c.Flags().BoolVar(&o.noBrowser, "no-browser", false, "open no browser; without a display none is opened anyway")
	c.Flags().StringVar(&o.ip, "ip", "127.0.0.1", "address to listen on")
	c.Flags().IntVar(&o.port, "port", 8888, "port to listen on, or the next free one")
	return c
}

type labOptions struct {
	dir       string
	noBrowser bool
	ip        string
	port      int
}

func (o labOptions) run(ctx context.Context) error {
	say("Setting up what notebooks need")
	program, err := notebookTools(ctx)
	if err != nil {
		return err
	}
	if err := setup.AwaitCompletions(); err != nil {
		say("JupyterLab may discard late completions: %v", err)
	}
	if o.dir == "" {
		if o.dir, err = setup.Lessons(); err != nil {
			return err
		}
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	if st, err := os.Stat(o.dir); err != nil || !st.IsDir() {
		return fmt.Errorf("%s is not a folder that can be opened", o.dir)
	}
	port, err := freePort(o.ip, o.port)
	if err != nil {
		return err
	}
	token := rand.Text()
	args := setup.PythonModule("jupyterlab", "--ServerApp.ip="+o.ip, "--ServerApp.port="+strconv.Itoa(port),
		"--ServerApp.port_retries=0", "--ServerApp.root_dir="+o.dir,
		"--log-level=ERROR", "--no-browser")
	if setup.ShortSockets() {
		args = append(args, "--KernelManager.transport=ipc") // sockets in a folder of this user's, and no ports
	}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-root")
	}
	cmd := python(ctx, program, args...)
	cmd.Dir = setup.Elsewhere()                             // Jupyter runs settings that it finds in its working directory
	cmd.Env = append(os.Environ(), "JUPYTER_TOKEN="+token)  // arguments are for all users to see
	if kernel, err := setup.InstalledKernel(); err == nil { // terminals in JupyterLab find the command there
		cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(kernel))
	}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start JupyterLab: %w", err)
	}
	up, stop := context.WithCancel(ctx)
	defer stop()
	say("Starting JupyterLab …")
	go func() {
		if o.answers(up, port) {
			address := o.address(port, token)
			fmt.Fprintf(plain{os.Stdout}, "JupyterLab shows %s at\n  %s\nCtrl-C ends it.\n", o.dir, address)
			if !o.noBrowser && hasDisplay() {
				openBrowser(up, address)
			}
			prepare(up)
		}
	}()
	err = cmd.Wait()
	stop()
	if ctx.Err() != nil {
		return nil // Ctrl-C is how it ends
	}
	if err != nil {
		return fmt.Errorf("JupyterLab ended: %w", err)
	}
	return nil
}

// prepare has done what cells would do first, while the lessons can be read already.
func prepare(ctx context.Context) {
	if err := setup.WarmCells(ctx, say); err != nil && ctx.Err() == nil {
		say("The first cell will take longer: %v", err)
	}
	if err := setup.BuildGopls(ctx, say); err != nil && ctx.Err() == nil {
		say("Tab will complete magics and arrays, but no other Go: %v", err)
	}
	_ = setup.WarmGopls(ctx) // without it the first Tab takes longer
}

// notebookTools sets up all that notebooks need, and gives the Python to run
// them with.
func notebookTools(ctx context.Context) (string, error) {
	installed := make(chan error, 1)
	go func() { // which computes, while JupyterLab is fetched
		_, err := setup.Install(ctx, say)
		installed <- err
	}()
	program, err := setup.Jupyter(ctx, say)
	return program, errors.Join(err, <-installed)
}

// freePort is the first port from first on that nobody listens on.
func freePort(ip string, first int) (int, error) {
	for port := first; port < first+50; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no port from %d to %d of %s is free", first, first+49, ip)
}

func (o labOptions) address(port int, token string) string {
	host := o.ip
	if ip := net.ParseIP(host); ip != nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		host = "localhost"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(port)), Path: "/lab", RawQuery: "token=" + token}
	return u.String()
}

// answers waits until the server takes requests.
func (o labOptions) answers(ctx context.Context, port int) bool {
	host := o.ip
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/api"
	for ctx.Err() == nil {
		if r, err := http.Get(u); err == nil {
			r.Body.Close()
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

// openBrowser asks the desktop to; where it cannot, the address has been said. The
// browser gets a file that leads to the address, which only this user can read:
// arguments of processes are for all users to see, and the address has the token.
func openBrowser(ctx context.Context, address string) {
	page, err := redirectPage(address)
	if err != nil {
		return
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	_ = exec.Command(opener, page).Run()
	context.AfterFunc(ctx, func() { os.Remove(page) })
}

// redirectPage is a file of this user's cache folder that leads a browser to address.
func redirectPage(address string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "gonbext")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "open-*.html") // 0600
	if err != nil {
		return "", err
	}
	address = html.EscapeString(address)
	_, err = fmt.Fprintf(f, `<!doctype html><meta charset="utf-8"><title>JupyterLab</title><meta http-equiv="refresh" content="0;url=%s"><a href="%s">JupyterLab</a>`+"\n", address, address)
	return f.Name(), errors.Join(err, f.Close())
}

func hasDisplay() bool {
	return runtime.GOOS == "darwin" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
