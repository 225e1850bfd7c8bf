// `pnpm test` checks the policies of some sessions, the long run those of all.
import "./policy.test.ts";
