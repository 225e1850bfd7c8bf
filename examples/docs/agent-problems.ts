import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentFileError, agentFromFile } from "@colloquy/sessions/agents";

const folder = mkdtempSync(join(tmpdir(), "colloquy-agents-"));
const path = join(folder, "agent.yaml");
writeFileSync(path, "name: helper\nmodel: 4\nsystem_prompt: You help.\nmemory: { maxTurns: -1 }\n");

try {
  await agentFromFile(path);
} catch (thrown) {
  if (!(thrown instanceof AgentFileError)) throw thrown;
  console.log(thrown.message.replaceAll(`${folder}/`, ""));
} finally {
  rmSync(folder, { recursive: true });
}
