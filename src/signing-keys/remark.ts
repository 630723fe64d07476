/** A heading of a private key, or a run of base64 as long as a line of one: a key whose line breaks were lost in pasting. */
const KEY_MATERIAL = /PRIVATE KEY|[A-Za-z0-9+/]{60}/i

/** Whether a private key was pasted where a remark belongs: an SSH comment, an armor header. */
export function holdsPastedKey(remark: string): boolean {
  return KEY_MATERIAL.test(remark)
}

/** Whether a remark may be shown: it holds no run of 16 characters that look like base64, which 12 bytes have. */
export function isPlainRemark(remark: string): boolean {
  const runs = remark.match(/[A-Za-z0-9+/]{16,}/g) ?? []
  return !holdsPastedKey(remark) && !runs.some(looksLikeBase64)
}

/** Small and capital letters and digits in one run, or more of it than words have. */
function looksLikeBase64(run: string): boolean {
  return run.length >= 32 || (/[a-z]/.test(run) && /[A-Z]/.test(run) && /[0-9+/]/.test(run))
}
