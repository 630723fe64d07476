#!/usr/bin/env bash
# Sequelize 6.37.8: one object with the options of a column, used for columns of two models.
# One would guess: options are read, so that each column has the name of its own key.
# Seen: the first `define` writes `field` into the object, and the column of the second model gets the name of the first. No error, no
# warning; `sync()` creates the tables so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . sequelize@6.37.8 pg@8.23.1 >/dev/null
cat >run.cjs <<'JS'
const { DataTypes, Sequelize } = require('sequelize')

const sequelize = new Sequelize('postgres://127.0.0.1/none') // nothing connects
const text = { type: DataTypes.STRING, allowNull: false }
sequelize.define('User', { username: text })
const { slug } = sequelize.define('Organization', { slug: text }).getAttributes()
console.log(`the column of slug is ${slug.field}`)
process.exitCode = slug.field === 'username' ? 0 : 1
JS
node run.cjs
