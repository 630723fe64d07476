/** A page request with its defaults filled in: safe integers from 1 up. */
export interface PageQuery {
  readonly from: { readonly page: number } | { readonly after: string }
  readonly limit: number
}
