// Writes the tables of docs/packages.md: the purpose, size and dependencies of each package, and what the first example
// installs. It packs all packages, which takes a minute. The gate's long tests check the page's sizes to a tenth.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { format } from "oxfmt";

import { runCommand } from "../proof/kit/command.ts";
import { inFolder } from "../proof/kit/folder.ts";
import { type InstalledSize, installedSizes, type PackageSize, packageSizes } from "./package-sizes.ts";
import { packAll } from "./tarball.ts";

const path = "docs/packages.md";

/** Returns the outdated sizes of a page, each with its remedy. All else in a package's row must be exact. */
export const problemsOfSizes = (
  page: string,
  sizes: readonly PackageSize[],
  installed: readonly InstalledSize[],
): readonly string[] => {
  const stated = rowsIn(page);
  const measured = [...sizes.map(rowOf), ...installedRows(installed)];
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

const write = (root: string): Promise<void> =>
  inFolder("sizes", async (folder) => {
    const tarballs = packAll(root, folder);
    const installed = installedRows(installedSizes(root, tarballs, firstPackage));
    const tables = [tableOf(titles, packageSizes(root, tarballs).map(rowOf)), tableOf(installedTitles, installed)];
    const page = readFileSync(join(root, path), "utf8").replaceAll(/(?:^\|.*\n)+/gm, () => tables.shift() ?? "");
    const { code } = await format(path, page, { printWidth: 120 });
    writeFileSync(join(root, path), code);
    for (const [name, , size] of installed) console.log(`${size?.padStart(8)}  ${name}`);
    console.log(`${path} is written`);
  });

export const firstPackage = "runtime-node";

const tableOf = (head: readonly string[], rows: readonly Row[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");

const installedTitles = ["installed", "what it is", "on a disk", "code", "types", "maps and sources", "else"];

/** Sorts the rows by size, the largest first. The last rows are the sums. */
const installedRows = (installed: readonly InstalledSize[]): readonly Row[] => {
  const rows = installed.toSorted((one, other) => onDisk(other) - onDisk(one));
  const sums = [
    sumOf("all of it", rows),
    sumOf(
      "all but `openai`",
      rows.filter(({ name }) => name !== "openai"),
    ),
  ];
  return [...rows.map((row) => ({ ...row, name: `\`${row.name}\`` })), ...sums].map((row) => [
    row.name,
    row.description,
    ...[onDisk(row), row.code, row.types, row.maps, row.others].map(sizeInWords),
  ]);
};

export const onDisk = ({ code, types, maps, others }: InstalledSize): number => code + types + maps + others;

const sumOf = (name: string, rows: readonly InstalledSize[]): InstalledSize => {
  const sum = (kind: "code" | "types" | "maps" | "others"): number => rows.reduce((all, row) => all + row[kind], 0);
  const [code, types, maps, others] = [sum("code"), sum("types"), sum("maps"), sum("others")];
  return { name, description: "", code, types, maps, others };
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

/** Returns whether two cells agree. Sizes may differ by a tenth or a few blocks, as each commit changes them a bit. */
const isNear = (stated: string, measured: string): boolean => {
  if (stated.replaceAll(sizes, "") !== measured.replaceAll(sizes, "")) return false;
  const actual = bytesIn(measured);
  return bytesIn(stated).every((bytes, index) => {
    const now = actual[index] ?? 0;
    return Math.abs(bytes - now) <= Math.max(0.1 * now, 12_000);
  });
};

const sizes = /([\d.]+) (kB|MB)/g;

const bytesIn = (cell: string): readonly number[] =>
  [...cell.matchAll(sizes)].map(([, figure, unit]) => Number(figure) * (unit === "MB" ? 1e6 : 1000));

const rowsIn = (page: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    page
      .split("\n")
      .filter((line) => /^\| (?!-|package |installed )/.test(line))
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
