import type { CommandTarget } from "../commands/command.ts";
import { slashCommands } from "../commands/commands.ts";

/** What the arguments of commands may be, as far as that was looked up. */
export class ArgumentOffers {
  readonly known: Map<string, readonly string[]> = new Map();

  /** Looks up what the command that is typed may be given, once for each that is begun. True where there is news. Never rejects. */
  async lookUp(typed: string, target: () => CommandTarget): Promise<boolean> {
    const [, name] = /^(\/\S+) /.exec(typed) ?? [];
    if (name === undefined) this.known.clear();
    if (name === undefined || this.known.has(name)) return false;
    this.known.set(name, []);
    const command = slashCommands.find((each) => each.name === name);
    // Without them the command can still be typed.
    this.known.set(name, (await command?.complete?.(target()).catch(() => [])) ?? []);
    return true;
  }
}
