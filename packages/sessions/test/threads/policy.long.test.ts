// `pnpm test` checks the policies of some sessions. The long run checks all.
import "./policy.test.ts";
