package main

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gonbext/gonbext/gonbext/internal/magic"
	"github.com/gonbext/gonbext/oocore/host"
)

// version is the module's version, and the revision that it was built from where that is known.
func version() string {
	text, on := "unknown", runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text + " (" + on + ")"
	}
	text = info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			on = "revision " + s.Value + ", " + on
		case s.Key == "vcs.modified" && s.Value == "true":
			on = "modified, " + on
		}
	}
	return text + " (" + on + ")"
}

func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that lets a shell complete commands, flags, paths and functions",
		Example: `  source <(gonbext completion bash)                                    in ~/.bashrc, with the package bash-completion
  gonbext completion zsh > "${fpath[1]}/_gonbext"
  gonbext completion fish > ~/.config/fish/completions/gonbext.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			switch w := c.OutOrStdout(); args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(w, true)
			case "zsh":
				return c.Root().GenZshCompletion(w)
			default:
				return c.Root().GenFishCompletion(w, true)
			}
		},
	}
}

// completeWords completes what a command takes: an expression where it stands first, and paths, also behind NAME=.
func completeWords(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if file := c.Flags().Lookup("file"); file != nil && len(args) == 0 && !file.Changed {
		begin := word[:len(word)-len(lastName.FindString(word))]
		var all []string
		for _, o := range host.Operations() {
			if strings.HasPrefix(o.Name, word[len(begin):]) && len(word) > len(begin) {
				all = append(all, begin+o.Name+"(\t"+o.Usage)
			}
		}
		return all, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
	name, path, named := strings.Cut(word, "=")
	if !named {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var all []string
	for _, match := range magic.CompleteFile("", path) {
		all = append(all, name+"="+match)
	}
	return all, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// lastName is the beginning of a name at the end of an expression.
var lastName = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*$`)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Example: `  gonbext man | man -l -
  gonbext man > /usr/local/share/man/man1/gonbext.1`,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(c.OutOrStdout(), manual(c.Root()))
			return err
		},
	}
}

// manual is the page of all commands, in man's macros.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH GONBEXT 1\n.SH NAME\ngonbext \\- %s\n.SH SYNOPSIS\n.B gonbext\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n.SH COMMANDS\n", roff(root.Short))
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		fmt.Fprintf(&b, ".SS gonbext %s\n", roff(c.Use))
		for i, paragraph := range strings.Split(strings.TrimSpace(c.Long), "\n\n") {
			if i == 0 && paragraph == "" {
				paragraph = c.Short + "."
			}
			if strings.HasPrefix(paragraph, " ") {
				fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(paragraph))
			} else {
				fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
			}
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			short := ""
			if f.Shorthand != "" {
				short = "-" + f.Shorthand + ", "
			}
			kind, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(short+"--"+f.Name), roff(kind), roff(usage))
		})
		fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	fmt.Fprintf(&b, ".SH \"EXIT STATUS\"\n%s\n", roff(strings.Join(slices.Clone(exitStatuses), "\n")))
	return b.String()
}

// exitStatuses is what the command's ends mean.
var exitStatuses = []string{"0 where all was done, 1 where it failed, 2 for wrong usage: flags, sizes, the syntax of EXPR.",
	"130 and 143 after an interrupt (SIGINT) and SIGTERM, when temporary files are removed; the same command resumes there."}

// roff escapes text, so that no line of it is a macro.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}
