/** What the library advises whoever calls it, for whoever runs the command. */
export const asCommand = (advice: string): string => advice.replace("{ repair: true }", "--repair");
