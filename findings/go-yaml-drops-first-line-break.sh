#!/usr/bin/env bash
# gopkg.in/yaml.v3 3.0.1 (with which Gitea up to 1.24 writes its dumps) and go.yaml.in/yaml/v4 4.0.0-rc.3: texts that begin with a line
# break.
# One would guess: what a library writes it reads again.
# Seen: 3.0.1 writes such a text as a block and leaves out the end of the line before it, so that the first line break of the text ends
# that line. One line feed of several is gone. A text that begins with U+2028 comes back without it, although the file has it: a
# reader that looks at how the line ends can tell. 4.0.0-rc.3 gives every one of them back.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GOFLAGS='-mod=mod -modcacherw' GOPATH=$folder/go GOCACHE=$folder/cache

# run MODULE@VERSION: prints what comes back of each text.
run() {
  local module=${1%@*}
  mkdir "$folder/${1#*@}" && cd "$folder/${1#*@}"
  go mod init probe 2>/dev/null
  cat >main.go <<GO
package main

import (
	"fmt"
	"$module"
)

func main() {
	for _, text := range []string{"\n\na", "\n a", "\na", "\u2028\na", "a\n\nb"} {
		written, err := yaml.Marshal(map[string]string{"content": text})
		if err != nil {
			panic(err)
		}
		var read map[string]string
		if err := yaml.Unmarshal(written, &read); err != nil {
			fmt.Printf("%q: cannot be read\n", text)
			continue
		}
		fmt.Printf("%q: %q\n", text, read["content"])
	}
}
GO
  go get "$1" 2>/dev/null
  go run .
}
{
  echo 3.0.1
  run gopkg.in/yaml.v3@v3.0.1
  echo 4.0.0-rc.3
  run go.yaml.in/yaml/v4@v4.0.0-rc.3
} | tee "$folder/out.txt"
diff "$folder/out.txt" - <<'TEXT'
3.0.1
"\n\na": "\na"
"\n a": " a"
"\na": "a"
"\u2028\na": "\na"
"a\n\nb": "a\n\nb"
4.0.0-rc.3
"\n\na": "\n\na"
"\n a": "\n a"
"\na": "\na"
"\u2028\na": "\u2028\na"
"a\n\nb": "a\n\nb"
TEXT
