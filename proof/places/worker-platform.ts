import { join } from "node:path";

import { rolldown } from "rolldown";
import { z } from "zod";

import { manifestIn } from "../../scripts/manifest.ts";
import { inFolder, memory } from "../kit/folder.ts";
import { patienceMs } from "./worker-client.ts";
import { Workerd } from "./workerd.ts";

/** The entry points that load in a worker without Node's modules. */
const withoutNode = [
  "host",
  "host/telemetry",
  "interchange",
  "interchange/templates",
  "interchange/tokens",
  "machine",
  "memories/dialogue",
  "memories/langchain",
  "memories/opensearch",
  "runtime-browser",
  "runtime-node/openai",
  "server",
  "sessions/datasets",
] as const;

/** The entry points that also need Node's modules, which Cloudflare's workers have from 2026-08-04 on. */
const withNode = ["runtime-node", "runtime-node/mcp", "server/studio", "sessions", "sessions/agents"] as const;

/**
 * Loads packages in workerd with Node's modules and without them, by the flags and dates that decide it. Checks that
 * the features and the modules that load are those in the docs.
 */
export const platformOfWorker = (root: string, program: string): Promise<readonly string[]> =>
  inFolder(
    "worker-platform",
    async (folder) => {
      const modules = [...withoutNode, ...withNode];
      for (const module of modules) await bundle(root, module, folder);
      const problems: string[] = [];
      for (const { setting, hasNode } of settings) {
        const entry = "proof/places/platform-worker.ts";
        const configure = (text: string): string => configured(text, modules, setting);
        await using workerd = await Workerd.start({ root, program, entry, folder, configure }, { MODEL_URL: "bound" });
        const url = await workerd.url;
        const has = hasSchema.parse(JSON.parse(await read(url)));
        const loaded = await Promise.all(modules.map((module) => read(`${url}/${fileOf(module)}`)));
        const expected: readonly string[] = hasNode ? [...withoutNode, ...withNode] : withoutNode;
        problems.push(
          ...Object.entries(has).flatMap(([what, isThere]) =>
            isThere === hasNode ? [] : [`${setting}: ${what} is ${isThere ? "" : "not "}there`],
          ),
          ...modules.flatMap((module, index) =>
            (loaded[index] === "") === expected.includes(module)
              ? []
              : [`${setting}: ${module} ${loaded[index] === "" ? "loads" : `does not load: ${loaded[index]}`}`],
          ),
        );
      }
      return problems;
    },
    { within: memory() },
  );

const settings = [
  { setting: `compatibilityDate = "2026-08-04"`, hasNode: true },
  { setting: `compatibilityDate = "2026-08-03"`, hasNode: false },
  { setting: `compatibilityDate = "2026-08-03", compatibilityFlags = ["nodejs_compat"]`, hasNode: true },
  {
    setting: `compatibilityDate = "2026-11-01", compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"]`,
    hasNode: false,
  },
] as const;

/** Returns the example's configuration with modules beside the worker. */
const configured = (text: string, modules: readonly string[], setting: string): string =>
  text
    .replace(/compatibilityDate = "[^"]*"/, setting)
    .replace(/(?<=modules = \[.*)\]/, `${modules.map((module) => `, ${embedded(fileOf(module))}`).join("")}]`);

const embedded = (file: string): string => `(name = "${file}", esModule = embed "${file}")`;

const fileOf = (module: string): string => `${module.replaceAll("/", "-")}.js`;

/** Bundles an entry point as a user's tool does. */
const bundle = async (root: string, module: string, folder: string): Promise<void> => {
  const [name = "", ...path] = module.split("/");
  const source = manifestIn(join(root, "packages", name)).exports[[".", ...path].join("/")];
  const bundled = await rolldown({
    input: join(root, "packages", name, source ?? ""),
    platform: "browser",
    external: [/^node:/],
    // The reason for a warning shows when the module loads.
    logLevel: "silent",
  });
  await bundled.write({ file: join(folder, fileOf(module)), format: "es", codeSplitting: false });
  await bundled.close();
};

const hasSchema = z.record(z.string(), z.boolean());

const read = async (url: string): Promise<string> =>
  (await fetch(url, { signal: AbortSignal.timeout(patienceMs) })).text();
