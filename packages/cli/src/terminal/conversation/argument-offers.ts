import type { CommandTarget } from "../commands/command.ts";
import { slashCommands } from "../commands/commands.ts";

/** The possible arguments of commands that were looked up so far. */
export class ArgumentOffers {
  readonly known: Map<string, readonly string[]> = new Map();

  /**
   * Looks up the possible arguments of the typed command, once for each time it is typed. Returns true if there are new
   * ones. Never rejects.
   */
  async lookUp(typed: string, target: () => CommandTarget): Promise<boolean> {
    const [, name] = /^(\/\S+) /.exec(typed) ?? [];
    if (name === undefined) this.known.clear();
    if (name === undefined || this.known.has(name)) return false;
    this.known.set(name, []);
    const command = slashCommands.find((each) => each.name === name);
    // The command can be typed without offers.
    this.known.set(name, (await command?.complete?.(target()).catch(() => [])) ?? []);
    return true;
  }
}
