import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const door = fileURLToPath(new URL("../../../src/terminal/index.ts", import.meta.url));

/**
 * Runs a script that has the package as `terminal`, and returns the modules that it loads; the last line is the
 * script's own output.
 */
const loadedBy = (script: string, environment: Readonly<Record<string, string>> = {}): readonly string[] => {
  const { NODE_ENV: _, ...others } = process.env;
  const watched = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const terminal = await import(${JSON.stringify(door)});
    ${script}
    console.log(JSON.stringify(loaded));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", watched], {
    encoding: "utf8",
    env: { ...others, ...environment },
  });
  return JSON.parse(output);
};

test("the package loads nothing of Ink and React until there is a screen", () => {
  const loaded = loadedBy("");
  expect(loaded).toContain(`file://${door}`);
  expect(loaded.filter((url) => /node_modules\/(?:ink|react|yoga-layout)/.test(url))).toEqual([]);
});

test.each(["", "development"])("React is loaded as it is made for production, and NODE_ENV stays %j", (mode) => {
  const loaded = loadedBy(
    `import { PassThrough } from "node:stream";
    const conversation = () => ({ ended: Promise.resolve(), onChange: () => () => {}, press: () => {}, drawn: () => {}, shown: () =>
      ({ finished: [], open: () => [], input: () => ({ lines: [[]], cursor: { row: 0, column: 0 } }), status: () => [], view: null }) });
    const [input, output] = [new PassThrough(), new PassThrough()];
    await terminal.runScreen({ conversation, input, output, theme: terminal.themeNamed("plain") });
    loaded.length = 0;
    const { createRequire } = await import("node:module");
    for (const [file, module] of Object.entries(createRequire(import.meta.url).cache)) if (module.loaded) loaded.push(file);
    loaded.push("NODE_ENV=" + (process.env.NODE_ENV ?? ""));`,
    mode === "" ? {} : { NODE_ENV: mode },
  );
  const ofReact = loaded.filter((url) => /\/cjs\/react/.test(url));
  expect(ofReact.length).toBeGreaterThan(1);
  expect(ofReact.filter((url) => !url.includes("production"))).toEqual([]);
  expect(loaded).toContain(`NODE_ENV=${mode}`);
});
