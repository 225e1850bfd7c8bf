import { expect, test } from "vitest";

import { apiReport, type EntryPoint } from "../scripts/api-report.ts";

type Files = Readonly<Record<string, string>>;

const root: EntryPoint = { path: "@colloquy/some", file: "index.d.ts" };

const reportOf = (files: Files, entries: readonly EntryPoint[] = [root]): string =>
  apiReport(entries, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`${path} is not there`);
    return text;
  });

const files = {
  "index.d.ts": `
import { type Options } from "./options.ts";
export { Thing, type Kind } from "./thing.ts";
export type * from "./shape.ts";
export declare const make: (options?: Options) => import("./made.ts").Made<string>;
export declare function read(text: string): string;
export declare function read(text: number): number;`,
  "options.d.ts": `
import type { Either } from "fp-ts/lib/Either.js";
export interface Options { readonly size: number; readonly check?: Check; }
type Check = (value: Either<Fault, number>, depth?: number) => boolean;
interface Fault { readonly where: string; }
export declare const problemOf: (options: Options, Thing: string) => string | null;`,
  "thing.d.ts": `
/** A thing. */
export declare class Thing<Value = string> { #private; readonly value: Value; helper(): void; }
export type Kind = "one" | "two"; // of things
export declare const helper: (thing: Thing) => void;`,
  "shape.d.ts": "export interface Shape { readonly sides: number; }\nexport declare const sidesOf: number;",
  "made.d.ts": "export interface Made<Of> { readonly of: Of; }\nexport interface Unseen { readonly other: string; }",
} satisfies Files;

const before = reportOf(files);

/** Returns the report after a text in one of the files was replaced. */
const after = (file: keyof typeof files, old: string, now: string): string => {
  expect(files[file]).toContain(old);
  return reportOf({ ...files, [file]: files[file].replace(old, now) });
};

test.each([
  ["a member more", "options.d.ts", "readonly size: number;", "readonly size: number; readonly colour?: string;"],
  ["a member less", "options.d.ts", "readonly size: number;", ""],
  ["a member that may be left out", "options.d.ts", "size:", "size?:"],
  ["another type of a parameter", "index.d.ts", "(text: number)", "(text: bigint)"],
  ["a parameter that is required", "index.d.ts", "options?", "options"],
  ["an overload less", "index.d.ts", "export declare function read(text: number): number;", ""],
  ["another result", "index.d.ts", "Made<string>", "Made<number>"],
  ["a type that only a type mentions", "options.d.ts", "readonly where: string;", "readonly where: number;"],
  ["a type that `import()` names", "made.d.ts", "readonly of: Of;", "readonly of: Of | null;"],
  ["a generic's default", "thing.d.ts", "Value = string", "Value = number"],
  ["a generic's name", "made.d.ts", "Made<Of> { readonly of: Of; }", "Made<It> { readonly of: It; }"],
  ["another kind", "thing.d.ts", '"one" | "two"', '"one"'],
  ["a method of a class", "thing.d.ts", "helper(): void", "helper(): string"],
  ["an export more", "index.d.ts", "Thing, type Kind", "Thing, helper, type Kind"],
  ["an export less", "index.d.ts", "Thing, type Kind", "Thing"],
  ["a class that is a type alone", "index.d.ts", "{ Thing,", "{ type Thing,"],
  ["another name outside", "index.d.ts", "Thing, type Kind", "Thing, type Kind as Sort"],
  ["values beside types", "index.d.ts", "export type * from", "export * from"],
  ["an export of a file that is exported whole", "shape.d.ts", "sidesOf", "cornersOf"],
  ["a type of another package", "options.d.ts", "fp-ts/lib/Either.js", "fp-ts/lib/These.js"],
  ["an export of another package", "index.d.ts", "\n", '\nexport type { ZodType } from "zod";\n'],
  ["all of another package", "index.d.ts", "\n", '\nexport * from "zod";\n'],
  ["what is added to another package", "made.d.ts", "export", 'declare module "zod" { interface A {} }\nexport'],
  ["a default export", "index.d.ts", "\n", "\ndeclare const some: number;\nexport default some;\n"],
] as const)("a change of what a package declares is one of its report: %s", (_, file, old, now) => {
  expect(after(file, old, now)).not.toBe(before);
});

test.each([
  ["a comment", "thing.d.ts", "/** A thing. */", "/** Something else. */"],
  ["a comment behind code", "thing.d.ts", "// of things", "// of all things"],
  ["a function for other files of the package", "options.d.ts", "string | null", "boolean"],
  ["one whose name a member or a parameter has", "thing.d.ts", "(thing: Thing) => void", "(thing: Thing) => string"],
  ["a type that nothing leads to", "made.d.ts", "readonly other: string", "readonly other: number"],
] as const)("what is of the package alone is not in it: %s", (_, file, old, now) => {
  expect(after(file, old, now)).toBe(before);
});

test("an entry point more, less, or of another file is a change", () => {
  const made: EntryPoint = { path: "@colloquy/some/made", file: "made.d.ts" };
  const reports = [[root], [root, made], [made], [{ ...made, file: "thing.d.ts" }], [{ ...root, file: "made.d.ts" }]];
  expect(new Set(reports.map((entries) => reportOf(files, entries))).size).toBe(reports.length);
});

test("strings keep what looks like a comment", () => {
  const text = 'export type Url = "https://example.com" | `/*${string}*/`; // not this';
  expect(reportOf({ "index.d.ts": text })).toContain('export type Url = "https://example.com" | `/*${string}*/`;\n');
});

test("files that lead to each other are read", () => {
  const report = reportOf({
    "index.d.ts": 'export * from "./one.ts";',
    "one.d.ts": 'import { type Two } from "./two.ts";\nexport interface One { readonly two: Two }',
    "two.d.ts": 'import { type One } from "./one.ts";\nexport interface Two { readonly one: One }',
  });
  expect(report).toContain("interface Two");
  expect(report).toContain("One of ./one.d.ts");
});
