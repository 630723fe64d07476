// A plugin that is a CommonJS module. It receives the forge and the errors of a host that is an ES module.
import forgelet = require('forgelet')
import http = require('forgelet/http')

export function pinnedBy(
  forge: Pick<forgelet.Forge<{ readonly id: number }>, 'pins'>,
): Promise<readonly forgelet.Pin[]> {
  return forge.pins.list('system', { repositoryId: 10, kind: 'issue' })
}

export function apiOf<A extends forgelet.Actor, Tx>(
  forge: forgelet.Forge<A, Tx>,
  options: http.ApiOptions<A>,
): http.Api<A> {
  return http.createApi<A, Tx>(forge, options)
}

export function badgeApiOf<A extends forgelet.Actor, Tx, S extends 'badges' | 'pins'>(
  forge: forgelet.Forge<A, Tx, S | 'badges'>,
  directory: Pick<http.Directory<A>, 'findAccount'>,
): http.Api<A> {
  return http.createApi<A, Tx, S | 'badges', 'badges'>(forge, { services: ['badges'], directory })
}

export function limitOf(error: forgelet.ForgeError): number | undefined {
  return error.code === 'PIN_LIMIT_REACHED' ? error.details.limit : undefined
}
