/**
 * Whether a value of the command line looks like the address of a database with its password: a URL of any scheme,
 * `user:password@host`, or a list of settings with a password. Such a value is neither used as a file name nor shown.
 */
export function mayHoldPassword(text: string): boolean {
  const withoutDrive = text.replace(/^[a-z]:[\\/]/i, '') // C:\data\me@example.com is a path
  return /:\/\/|:.*@|(?:password|passwd|pwd)\s*=/is.test(withoutDrive)
}
