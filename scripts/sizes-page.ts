// Writes docs/packages.md: of each package what it is, how large it is, and what installing it brings. It packs all of
// them, which takes a minute. The gate's long tests hold the page to what is packed, within a tenth.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { format } from "oxfmt";

import { runCommand } from "../proof/kit/command.ts";
import { type PackageSize, packageSizes } from "./package-sizes.ts";
import { packAll } from "./tarball.ts";

const path = "docs/packages.md";

/** What a page says of sizes that are no longer so, each with the way out; it says all of a package's row but them exactly. */
export const problemsOfSizes = (page: string, sizes: readonly PackageSize[]): readonly string[] => {
  const stated = rowsIn(page);
  const measured = sizes.map(rowOf);
  const others = [...stated.keys()].filter((name) => !measured.some(([each]) => each === name));
  return [
    ...others.map((name) => `${name} is no package`),
    ...measured.flatMap(([name, ...cells]) => {
      const row = stated.get(name);
      if (row === undefined) return [`${name} is not there`];
      return cells.flatMap((cell, index) =>
        isNear(row[index] ?? "", cell) ? [] : [`${name} has "${cell}", where it says "${row[index]}"`],
      );
    }),
  ].map((problem) => `${path}: ${problem}: \`pnpm sizes\` writes it`);
};

const write = async (root: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-sizes-"));
  try {
    const rows = packageSizes(root, packAll(root, folder)).map(rowOf);
    const page = readFileSync(join(root, path), "utf8");
    const head = page.slice(0, page.indexOf("\n|"));
    const lines = [titles, titles.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
    const { code } = await format(path, `${head}\n${lines.join("\n")}\n`, { printWidth: 120 });
    writeFileSync(join(root, path), code);
    console.log(`${path} is written: ${rows.length} packages`);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const titles = ["package", "what it is", "packed", "unpacked", "brings of ours", "brings of others", "works with"];

type Row = readonly [name: string, ...cells: string[]];

const rowOf = (each: PackageSize): Row => [
  linkTo(each.name),
  each.description,
  sizeInWords(each.packed),
  sizeInWords(each.unpacked),
  each.own.map((name) => `\`${name.replace("@colloquy/", "")}\``).join(", ") || none,
  each.foreign.length === 0 ? none : `${count(each.foreign.length)}, ${sizeInWords(each.foreignSize)}`,
  each.optional.map((name) => `\`${name}\``).join(", ") || none,
];

const none = "nothing";

const linkTo = (name: string): string => `[\`${name}\`](../${name.replace("@colloquy", "packages")}/README.md)`;

const count = (packages: number): string => `${packages} ${packages === 1 ? "package" : "packages"}`;

const sizeInWords = (bytes: number): string =>
  bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** Whether two cells say the same, but that a size may differ by a tenth: each commit changes it a little. */
const isNear = (stated: string, measured: string): boolean => {
  if (stated.replaceAll(sizes, "") !== measured.replaceAll(sizes, "")) return false;
  const actual = bytesIn(measured);
  return bytesIn(stated).every((bytes, index) => Math.abs(bytes - (actual[index] ?? 0)) <= 0.1 * (actual[index] ?? 0));
};

const sizes = /([\d.]+) (kB|MB)/g;

const bytesIn = (cell: string): readonly number[] =>
  [...cell.matchAll(sizes)].map(([, figure, unit]) => Number(figure) * (unit === "MB" ? 1e6 : 1000));

const rowsIn = (page: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    page
      .split("\n")
      .filter((line) => line.startsWith("| ["))
      .map((line) => {
        const [name = "", ...cells] = line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim());
        return [name, cells];
      }),
  );

if (import.meta.main) {
  await runCommand({ name: "sizes", options: {}, run: () => write(dirname(import.meta.dirname)) });
}
