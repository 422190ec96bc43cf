package cloud

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// files are those in which Amazon's tools keep profiles.
type files struct{ config, credentials string }

// profileFiles are the files' usual places, or those that the environment names.
func profileFiles() files {
	home, _ := os.UserHomeDir()
	return files{
		config:      firstOf(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config")),
		credentials: firstOf(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials")),
	}
}

// profile is what the files say of a profile, "" being the default one. What the
// credentials' file says goes first. Only a profile that was asked for by name
// has to be there.
func (f files) profile(name string) (map[string]string, error) {
	wanted := firstOf(name, "default")
	config, err := readProfiles(f.config, "profile ")
	if err != nil {
		return nil, err
	}
	secrets, err := readProfiles(f.credentials, "")
	if err != nil {
		return nil, err
	}
	if name != "" && config[name] == nil && secrets[name] == nil {
		return nil, fmt.Errorf("AWS_PROFILE names %.40q, which is not in %s nor in %s", name, f.config, f.credentials)
	}
	p := map[string]string{}
	maps.Copy(p, config[wanted])
	maps.Copy(p, secrets[wanted])
	return p, nil
}

// readProfiles reads a file of sections. Those of profiles other than the default
// begin with prefix. Settings that belong to another, which are indented, are
// left out. A missing file has no profiles. No message holds what a line says.
func readProfiles(path, prefix string) (map[string]map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]map[string]string{}
	var section map[string]string
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch indented := line != "" && strings.IndexByte(" \t", lines.Text()[0]) >= 0; {
		case line == "" || line[0] == '#' || line[0] == ';' || indented:
		case line[0] == '[':
			name, _, ok := strings.Cut(line[1:], "]")
			if !ok {
				return nil, fmt.Errorf("%s, line %d: a ] is missing", path, n)
			}
			section = nil
			if name = strings.TrimSpace(name); name == "default" || strings.HasPrefix(name, prefix) {
				name = strings.TrimSpace(strings.TrimPrefix(name, prefix))
				if section = all[name]; section == nil {
					section = map[string]string{}
					all[name] = section
				}
			}
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				return nil, fmt.Errorf("%s, line %d: it is not of the form name = value", path, n)
			}
			if value, _, _ = strings.Cut(value, " #"); section != nil {
				section[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}
