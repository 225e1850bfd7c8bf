// `pnpm test` checks some of the policies and pairs. The long run checks all.
import "./claims-together.test.ts";
