// Draws the README's picture: what `pnpm start` says when it is asked these questions, as it is run here and now.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const questions = ["Is it raining in Oslo?", "And tomorrow in Paris?", "/undo", "And in Lima?", "/quit"];

const main = (): void => {
  const root = dirname(import.meta.dirname);
  const folder = mkdtempSync(join(tmpdir(), "colloquy-picture-"));
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["examples/weather/main.ts", "--store", join(folder, "weather.db")],
    { cwd: root, env, input: questions.map((question) => `${question}\n`).join(""), encoding: "utf8" },
  );
  rmSync(folder, { recursive: true });
  if (status !== 0) throw new Error(`the weather agent ended with ${status}: ${stderr}`);
  writeFileSync(
    join(root, "docs/start.svg"),
    pictureOf(["$ npx -y pnpm@12.21.0 start", ...stdout.trimEnd().split("\n")]),
  );
};

/** Lines of a terminal as SVG. Unit: pixels. */
const pictureOf = (lines: readonly string[]): string => {
  const width = 2 * margin + Math.max(...lines.map(({ length }) => length)) * characterWidth;
  const height = 2 * margin + lines.length * lineHeight;
  const texts = lines.map(
    (line, index) =>
      `  <text x="${margin}" y="${margin + (index + 0.75) * lineHeight}" fill="${colourOf(line)}" xml:space="preserve">${escaped(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">`,
    `  <rect width="100%" height="100%" rx="8" fill="#10141c"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
};

const margin = 16;
const lineHeight = 20;
const characterWidth = 7.9;

const colourOf = (line: string): string => {
  if (/^[>$] /.test(line)) return "#8ecbff";
  return /^(?: {2}|\(|thread |new thread|took back|weather agent|all of its)/.test(line) ? "#8b95a7" : "#e8ecf3";
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

main();
