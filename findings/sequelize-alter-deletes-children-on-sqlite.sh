#!/usr/bin/env bash
# Sequelize 6.37.8 on SQLite (sqlite3 5.1.7): `sync({ alter: true })` of two models that have not changed, one of which belongs to the
# other with `onDelete: 'CASCADE'`.
# One would guess: nothing changes. Its documentation warns that the table is altered to match the model, and here it does.
# Seen: each table is copied to a backup, dropped and made again, with foreign keys switched on, so that `DROP TABLE` of the parents
# deletes the rows of the children first. The parents are copied back, and the children are gone, without an error.
# Compiles sqlite3 if no binary of it can be fetched.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . sequelize@6.37.8 sqlite3@5.1.7 >/dev/null
cat >run.cjs <<'JS'
const { DataTypes, Sequelize } = require('sequelize')

const run = async () => {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: 'a.db', logging: false })
  const Author = sequelize.define('author', { name: DataTypes.STRING }, { timestamps: false })
  const Book = sequelize.define('book', { title: DataTypes.STRING }, { timestamps: false })
  Book.belongsTo(Author, { foreignKey: { allowNull: false }, onDelete: 'CASCADE' })
  await sequelize.sync()
  const { id } = await Author.create({ name: 'Mia' })
  await Book.create({ title: 'One', authorId: id })
  const rows = async () => `${await Author.count()} author, ${await Book.count()} book`

  const before = await rows()
  await sequelize.sync({ alter: true })
  const after = await rows()
  console.log(`before: ${before}; after: ${after}`)
  process.exitCode = before === '1 author, 1 book' && after === '1 author, 0 book' ? 0 : 1
}
run()
JS
node run.cjs
