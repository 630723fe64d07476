#!/usr/bin/env bash
# webpack 5.113.0 (npm), target node.
# Guess: createRequire(import.meta.url), as the value of a property, is the require of Node in the bundle too, or webpack says that it cannot be.
# Seen: the build succeeds without a warning, and the property is undefined. So a library that keeps its require for later, as the ES
# module of openpgp 6.3.2 does, fails where it is first used. With `module.parser.javascript.createRequire: false` it is a function.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund webpack@5.113.0
cat > program.mjs <<'JS'
import { createRequire } from 'node:module'
const tools = { load: createRequire(import.meta.url) }
console.log(typeof tools.load)
JS
cat > look.mjs <<'JS'
import { execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import webpack from 'webpack'
const run = (file) => execFileSync(process.execPath, [file], { encoding: 'utf8' }).trim()
const built = async (createRequire) => {
  const module = createRequire === undefined ? {} : { parser: { javascript: { createRequire } } }
  const output = { path: import.meta.dirname, filename: 'bundle.cjs' }
  const stats = await promisify(webpack)({ mode: 'production', target: 'node', entry: './program.mjs', output, module })
  return [stats.hasErrors() || stats.hasWarnings() ? 'complaints' : 'no complaint', run('bundle.cjs')].join(', ')
}
const seen = [run('program.mjs'), await built(undefined), await built(false)].join('; ')
console.log(seen)
process.exit(seen === 'function; no complaint, undefined; no complaint, function' ? 0 : 1)
JS
node look.mjs
