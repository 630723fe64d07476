import type { Path } from '../documents/record-batch.ts'
import type { Findings } from './forge-format.ts'

/** Reports the attachments that a text links to. The links stay in the text, the files are not in the source. */
export function reportLinks(attachment: RegExp, text: string, path: Path, findings: Findings): void {
  const count = text.match(attachment)?.length ?? 0
  if (count > 0) findings.notCarried('attachment', path, count)
}
