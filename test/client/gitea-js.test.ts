import { ADAPTER_HOSTS } from '../http-adapters/hosts/hosts.ts'
import { giteaJsSuite } from './gitea-js-suite.ts'
import { serve } from './served.ts'

// The real program, dist/cli.js, and the API over each adapter. Other storages and frameworks: gitea-js.long.test.ts.

giteaJsSuite('forgelet serve on :memory:', (options) => serve(':memory:', options), true)
for (const host of ADAPTER_HOSTS) giteaJsSuite(host.name, (options) => serve(host, options), false)
