/** A heading of a private key, or a run of base64 as long as a line of one: a key whose line breaks were lost in pasting. */
const KEY_MATERIAL = /PRIVATE KEY|[A-Za-z0-9+/]{60}/i

/** Whether a remark beside a key (an SSH comment, an armor header) is a remark, and no key pasted into its place. */
export function isPlainRemark(remark: string): boolean {
  return !KEY_MATERIAL.test(remark)
}
