import { execFileSync } from "node:child_process";

import { expect, test } from "vitest";

/** Runs in a process of its own, since modules that this one has loaded are not loaded again. */
const script = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
  console.log(loaded.join("\\n"));
`;

test("importing the package loads no format of other conversations and no client of a server", () => {
  const loaded = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(loaded).toContain("/runtime-node/src/stores/sqlite/");
  expect(loaded).not.toMatch(/\/interchange\/|\/zod\/v4\/|\/openai\/client/);
});
