import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a module with the tools of `chatServer`'s model: `look`, which never ends if its argument says so, and `mail`,
 * which needs approval. Each process that loads the module writes its process id beside it.
 */
export const toolsModule = (folder: string): string => {
  const file = join(folder, "tools.mjs");
  writeFileSync(
    file,
    `import { writeFileSync } from "node:fs";
writeFileSync(new URL("pid", import.meta.url), String(process.pid));
const tool = (name, approval, run) => ({
  declaration: { name, description: "", parameters: { type: "object" }, ...approval }, schema: null, needsApproval: null, run,
});
export default [
  tool("look", {}, (given) => given.for === "ever" ? new Promise(() => {}) : "rain, ".repeat(30) + "and wind in " + given.for),
  tool("mail", { approval: "always" }, (given) => "sent to " + given.for),
];
`,
  );
  return file;
};
