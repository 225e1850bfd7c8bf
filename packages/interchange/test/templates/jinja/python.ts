import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@colloquy/machine";
import { unpackDebian } from "../../../../../proof/servers/debian-packages.ts";

/** Jinja2 set up like `apply_chat_template`. Reads `[{ template, variables }]`, prints `[{ text } | { error }]`. */
const script = `
import json, sys, datetime, jinja2, jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment
def raise_exception(message): raise jinja2.exceptions.TemplateError(message)
class Generation(jinja2.ext.Extension):
    tags = {"generation"}
    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)
environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
environment.filters["tojson"] = lambda x, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
environment.globals["raise_exception"] = raise_exception
compiled = {}
def render(template, variables):
    at = variables.pop("at")
    environment.globals["strftime_now"] = lambda format: datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc).strftime(format)
    try:
        if template not in compiled: compiled[template] = environment.from_string(template)
        return {"text": compiled[template].render(**variables)}
    except Exception as error: return {"error": str(error)}
json.dump([render(**each) for each in json.load(sys.stdin)], sys.stdout)
`;

export interface PythonTask {
  readonly template: string;
  readonly variables: JsonObject & { readonly at: number };
}

type PythonResult = { readonly text: string } | { readonly error: string };

/** Python's jinja2: the system's, else Debian's package, unpacked. A text says why it is missing. */
export const python = ((): ((tasks: readonly PythonTask[]) => readonly PythonResult[]) | string => {
  const run = (path: string | null) => (input: string) =>
    spawnSync(
      "python3",
      ["-c", path === null ? script : `import sys; sys.path.insert(0, ${JSON.stringify(path)})\n${script}`],
      {
        input,
        encoding: "utf8",
        maxBuffer: 2 ** 28,
      },
    );
  const runs = [
    () => run(null),
    () => {
      const folder = mkdtempSync(join(tmpdir(), "jinja2-"));
      unpackDebian(/jinja2|markupsafe/u, ["python3-jinja2"], folder);
      return run(join(folder, "usr/lib/python3/dist-packages"));
    },
  ];
  const problems: string[] = [];
  for (const prepare of runs) {
    try {
      const each = prepare();
      const { status, error, stderr } = each("[]");
      // The script writes such a list.
      if (status === 0) return (tasks) => JSON.parse(each(JSON.stringify(tasks)).stdout) as readonly PythonResult[];
      problems.push((error?.message ?? stderr).trim().split("\n").at(-1) ?? "");
    } catch (thrown) {
      problems.push(String(thrown).split("\n")[0] ?? "");
    }
  }
  return problems.join("; ");
})();
