import { declarationsOf, type Tool } from "@colloquy/host";
import { named, oneLine, type Printer, reasonOf } from "@colloquy/cli/terminal";
import { ArgumentError } from "./exit-code.ts";
import { defaultExportOf } from "./optional-modules.ts";
import { withoutUser } from "./models.ts";
import type { OptionValues } from "./options.ts";

interface ChatTools {
  readonly tools: readonly Tool[];
  readonly close: () => Promise<void>;
}

/** Loads the modules and connects to the servers that the options name. @throws ArgumentError if one of them fails */
export const chatTools = async (
  {
    tools: modules = [],
    mcp = [],
    "allow-tools": allowed = false,
    quiet = false,
  }: Pick<OptionValues, "tools" | "mcp" | "allow-tools" | "quiet">,
  errors: Printer,
): Promise<ChatTools> => {
  const own: Tool[] = [];
  for (const path of modules) own.push(...(await toolsOfModule(path)));
  const servers: { readonly tools: readonly Tool[]; close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
  };
  try {
    for (const given of mcp) servers.push(await toolsOfServer(given, allowed, quiet ? null : errors));
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const all = [...own, ...servers.flatMap(({ tools }) => tools)];
  const names = all.map(({ declaration }) => declaration.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return { tools: all, close };
  await close();
  throw new ArgumentError(
    `two tools are named "${oneLine(twice)}": leave one of the --tools out, or put a name before one of the servers: --mcp NAME=…`,
  );
};

const toolsOfModule = async (path: string): Promise<readonly Tool[]> => {
  try {
    const exported = await defaultExportOf(path);
    // The next line checks that they are tools.
    const tools = (Array.isArray(exported) ? exported : [exported]) as readonly Tool[];
    declarationsOf(tools);
    return tools;
  } catch (thrown) {
    throw new ArgumentError(
      `--tools ${named(path)}: ${reasonOf(thrown)}; its default export must be tools that tool({ … }) made`,
      { cause: thrown },
    );
  }
};

/**
 * Connects to a server. Its tools need approval before each call, whatever the server declares, unless the user allowed
 * them.
 *
 * @param notices prints which tools are left out; null for a quiet chat.
 */
const toolsOfServer = async (given: string, allowed: boolean, notices: Printer | null) => {
  const [, name, place = given] = /^([a-zA-Z0-9_-]{1,32})=(.+)$/s.exec(given) ?? [];
  // Loaded on demand, because loading takes longer than most answers need.
  const { mcpTools } = await import("@colloquy/runtime-node/mcp");
  const [command = "", ...args] = commandWords(place);
  const isUrl = /^https?:\/\//i.test(place);
  const shown = name ?? (isUrl ? hostOf(place) : named(withoutUser(command)));
  try {
    const server = await mcpTools({
      transport: isUrl ? { url: place } : { command, args },
      ...(name === undefined ? {} : { name }),
      ...(allowed ? {} : { approval: "always" }),
    });
    for (const { name: tool, problem } of server.problems)
      notices?.line(
        `colloquy: ${tool === null ? "a tool" : `the tool ${named(tool)}`} of ${shown} is left out: ${oneLine(problem)}`,
      );
    return server;
  } catch (thrown) {
    throw new ArgumentError(`--mcp ${shown}: ${withoutUser(reasonOf(thrown))}`, { cause: thrown });
  }
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "of a URL that is none");

/** Splits a command line into words as a shell does: a quoted part is one word. No shell runs it. */
export const commandWords = (line: string): readonly string[] =>
  Array.from(line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g), ([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );
