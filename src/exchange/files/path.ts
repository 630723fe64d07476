import { fileURLToPath } from 'node:url'
import { need } from '../../schema/arguments.ts'

/** Returns the path of a file. @throws TypeError when it is neither a text nor a `file:` URL */
export function pathOf(caller: string, path: string | URL): string {
  need((typeof path === 'string' && path !== '') || path instanceof URL, caller, 'a path', 'a text or a file: URL')
  return path instanceof URL ? fileURLToPath(path) : path
}
