// `pnpm test` tries few conversations with each policy. The long run tries all.
import "./policy-laws.test.ts";
