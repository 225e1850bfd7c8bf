// Writes the JSON Schema of agent files, for editors, from the schema that checks them. `--check` fails if the existing
// file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { agentFileSchema } from "@colloquy/sessions/agents";

const path = join(dirname(import.meta.dirname), "packages/sessions/agent.schema.json");
const text = JSON.stringify(agentFileSchema());
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

if (!values.check) writeFileSync(path, `${text}\n`);
else if (JSON.stringify(JSON.parse(readFileSync(path, "utf8"))) !== text) {
  console.error("packages/sessions/agent.schema.json is not current; run: pnpm agent-schema && pnpm format");
  process.exitCode = 1;
}
