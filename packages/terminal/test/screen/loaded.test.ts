import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the package loads nothing of Ink and React until there is a screen", () => {
  const door = fileURLToPath(new URL("../../src/index.ts", import.meta.url));
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(door)});
    console.log(JSON.stringify(loaded));`;
  const loaded: readonly string[] = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" }),
  );
  expect(loaded).toContain(`file://${door}`);
  expect(loaded.filter((url) => /node_modules\/(?:ink|react|yoga-layout)/.test(url))).toEqual([]);
});
