// `pnpm test` checks some of the policies. The long run checks all.
import "./check-policy-laws.test.ts";
