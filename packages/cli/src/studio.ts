import { once } from "node:events";
import { compactTurns, keepAll, lastTurns, type Policy, tokenWindow } from "@colloquy/machine/policies";
import { systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { studioRoutes } from "@colloquy/server/studio";
import { reasonOf } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { exitCodes } from "./exit-code.ts";
import { storeThatIsThere } from "./kept-threads.ts";
import type { Provider } from "./models.ts";
import { openedHost, opening } from "./opened-host.ts";
import type { OptionValues } from "./options.ts";
import { optionsFromModule } from "./optional-modules.ts";
import { placeOf, listen } from "./serve.ts";
import { settled } from "./settings.ts";

/**
 * Serves the page that shows the threads of a store, only on this machine, until the process is asked to end. Returns
 * the exit code.
 */
export const studio = async (_: readonly string[], given: OptionValues, context: CommandContext): Promise<number> => {
  const settings = settled(given, context);
  const { options } = settings;
  const { errors, printer, signal } = context;
  storeThatIsThere(options.store);
  const machine = await optionsFromModule(options.options);
  const opened = await opening(async (opens) => {
    const {
      host,
      opened: store,
      under,
      about,
      provider,
    } = await openedHost(settings, context, opens, {
      machine,
      provider: withoutModel(options),
    });
    const routes = await studioRoutes({
      store,
      clock: systemClock,
      configurations: [
        { name: "this studio's options", host },
        ...otherPolicies.map(([name, policy]) => ({ name, host: under({ policy }) })),
      ],
      models: [provider.model],
      about,
    });
    const server = threadServer(
      host,
      { onError: (error, id) => errors.line(`colloquy: request ${id}: ${reasonOf(error)}`) },
      routes,
    );
    const listening = await listen(server, placeOf({ port: options.port ?? "8090" }));
    opens(() => listening.close());
    return { about, url: listening.url };
  });
  try {
    errors.line(opened.about);
    printer.line(`listening at ${opened.url}/studio`);
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await opened.close();
  }
  return exitCodes.done;
};

/**
 * Returns a provider for a studio without a model: viewing needs none, and a turn that is tried again fails with the
 * reason. A requested model must exist.
 */
const withoutModel =
  (options: OptionValues) =>
  (thrown: unknown): Provider => {
    if ((options.model ?? options.provider ?? options["base-url"] ?? options.agent) !== undefined) throw thrown;
    const failure = { kind: "auth", message: reasonOf(thrown), retryable: false } as const;
    return { name: "", model: "no model", handler: () => async () => ({ type: "failed", failure }) };
  };

/** Policies for viewing prompts and trying turns again, beside the given options. */
const otherPolicies: readonly (readonly [name: string, policy: Policy])[] = [
  ["everything", keepAll()],
  ["the last 3 turns", lastTurns(3)],
  ["the newest that fits", tokenWindow()],
  ["older turns summed up", compactTurns()],
];
