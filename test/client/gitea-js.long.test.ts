import { ADAPTER_HOSTS, hosts } from '../http-adapters/hosts/hosts.ts'
import { giteaJsSuite } from './gitea-js-suite.ts'
import { serve } from './served.ts'

// The first are in gitea-js.test.ts, and databases on servers in client.servers.test.ts.

giteaJsSuite('forgelet serve on a file', (options) => serve('file', options), true)
giteaJsSuite('a server without SQLite', (options) => serve('memory', options), true)
for (const host of hosts.filter((one) => !ADAPTER_HOSTS.includes(one)))
  giteaJsSuite(host.name, (options) => serve(host, options), false)
