// Before the suite "oldest": installs the oldest pg and mysql2 that docs/databases.md names, in place of which it imports them.
import { resolve } from 'node:path'
import { installPackages } from '../../packages.ts'

export const OLDEST_FOLDER: string = resolve('node_modules/.cache/forgelet/oldest-drivers')

export function setup(): void {
  installPackages(OLDEST_FOLDER, ['pg@8.11.0', 'mysql2@3.0.0'])
}
