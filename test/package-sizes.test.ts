import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

import { expect, onTestFinished, test } from "vitest";

import { type InstalledSize, type PackageSize, packageSizes } from "../scripts/package-sizes.ts";
import { problemsOfSizes } from "../scripts/sizes-page.ts";

const page = `# Sizes

| package | what it is | packed | unpacked | brings of ours | brings of others | works with |
| --- | --- | --- | --- | --- | --- | --- |
| [\`@colloquy/host\`](../packages/host/README.md) | A loop | 400 kB | 1.6 MB | \`machine\` | 2 packages, 10.0 MB | nothing |

| installed | what it is | on a disk | code | types | maps and sources | else |
| --- | --- | --- | --- | --- | --- | --- |
| \`openai\` | A client | 6.0 MB | 3.0 MB | 2.0 MB | 1.0 MB | 0 kB |
| all of it |  | 6.0 MB | 3.0 MB | 2.0 MB | 1.0 MB | 0 kB |
| all but \`openai\` |  | 0 kB | 0 kB | 0 kB | 0 kB | 0 kB |
`;

const openai: InstalledSize = { name: "openai", description: "A client", code: 3e6, types: 2e6, maps: 1e6, others: 0 };

const host: PackageSize = {
  name: "@colloquy/host",
  description: "A loop",
  packed: 400_000,
  unpacked: 1_600_000,
  own: ["@colloquy/machine"],
  foreign: ["fp-ts", "zod"],
  foreignSize: 10_000_000,
  optional: [],
};

test("a size may differ by a tenth, so that not every commit writes the page", () => {
  expect(problemsOfSizes(page, [host], [openai])).toEqual([]);
  expect(
    problemsOfSizes(page, [{ ...host, packed: 430_000, unpacked: 1_500_000, foreignSize: 9_200_000 }], [openai]),
  ).toEqual([]);
});

test.each([
  [{ packed: 450_000 }, '"450 kB", where it says "400 kB"'],
  [{ packed: 360_000 }, '"360 kB", where it says "400 kB"'],
  [{ unpacked: 990_000 }, '"990 kB", where it says "1.6 MB"'],
  [{ foreignSize: 12_000_000 }, '"2 packages, 12.0 MB", where it says "2 packages, 10.0 MB"'],
  [{ foreign: ["zod"] }, '"1 package, 10.0 MB", where it says "2 packages, 10.0 MB"'],
  [{ own: [] }, '"nothing", where it says "`machine`"'],
  [{ optional: ["pg"] }, '"`pg`", where it says "nothing"'],
  [{ description: "A wheel" }, '"A wheel", where it says "A loop"'],
])("what is more off is said: %j", (change, problem) => {
  expect(problemsOfSizes(page, [{ ...host, ...change }], [openai])).toEqual([
    `docs/packages.md: [\`@colloquy/host\`](../packages/host/README.md) has ${problem}: \`pnpm sizes\` writes it`,
  ]);
});

test("packages that are not on the page, or are no longer there, are named", () => {
  expect(problemsOfSizes(page, [{ ...host, name: "@colloquy/loop" }], [openai])).toEqual([
    expect.stringContaining("host/README.md) is no package"),
    expect.stringContaining("loop/README.md) is not there"),
  ]);
});

test("our packages are ours also where the repository is reached by a symbolic link", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-sizes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (path: string, text: string | Uint8Array): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    return join(folder, path);
  };
  const tarballs = ["host", "machine"].map((name) => {
    const dependencies = name === "host" ? { "@colloquy/machine": "1.0.0" } : {};
    const manifest = { name: `@colloquy/${name}`, version: "1.0.0", dependencies };
    write(`real/packages/${name}/package.json`, JSON.stringify(manifest));
    return write(`colloquy-${name}-1.0.0.tgz`, gzipSync(new Uint8Array(1024)));
  });
  mkdirSync(join(folder, "real/packages/host/node_modules/@colloquy"), { recursive: true });
  symlinkSync("../../../machine", join(folder, "real/packages/host/node_modules/@colloquy/machine"));
  symlinkSync("real", join(folder, "linked"));
  const sizes = packageSizes(join(folder, "linked"), tarballs);
  expect(sizes.map(({ name, own, foreign }) => ({ name, own, foreign }))).toEqual([
    { name: "@colloquy/host", own: ["@colloquy/machine"], foreign: [] },
    { name: "@colloquy/machine", own: [], foreign: [] },
  ]);
});

test("a size of the first example that is more off is said", () => {
  expect(problemsOfSizes(page, [host], [{ ...openai, code: 4e6 }])).toEqual([
    'docs/packages.md: `openai` has "7.0 MB", where it says "6.0 MB": `pnpm sizes` writes it',
    'docs/packages.md: `openai` has "4.0 MB", where it says "3.0 MB": `pnpm sizes` writes it',
    expect.stringContaining("all of it"),
    expect.stringContaining("all of it"),
  ]);
});
