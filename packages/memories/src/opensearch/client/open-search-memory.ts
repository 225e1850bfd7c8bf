import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import type { Client } from "@opensearch-project/opensearch";
import { asking } from "./ask.ts";
import { conversations } from "./conversations.ts";
import { memories } from "./memories.ts";
import type { MemoryClient } from "./memory-client.ts";
import { atVersion } from "./version.ts";

export interface MemoryClientOptions {
  /** The version of the service, such as "2.11" or "3.0.0". Default: it is requested before the first call. */
  readonly version?: string;
}

/**
 * Makes OpenSearch's memory API from a client of `@opensearch-project/opensearch`, which has the address and the
 * credentials. Nothing is retried. Responses are checked: one that does not match the API is a problem, not a value.
 *
 * Sources: the plugin ml-commons and the OpenSearch API specification.
 *
 * @throws ConfigurationError for invalid options.
 */
export const openSearchMemory = (
  client: { readonly transport: Pick<Client["transport"], "request"> },
  options: MemoryClientOptions = {},
): MemoryClient => {
  const problem = problemOfOptions("openSearchMemory", options, optionNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const given: unknown = client;
  if (typeof given !== "object" || given === null || !("transport" in given))
    throw new ConfigurationError(
      'openSearchMemory needs a client, such as new Client({ node: "https://127.0.0.1:9200" }) of @opensearch-project/opensearch',
    );
  const ask = asking(client);
  return atVersion(ask, options.version, { legacy: conversations(ask), current: memories(ask) });
};

const optionNames: OptionNames<MemoryClientOptions> = { version: true };
