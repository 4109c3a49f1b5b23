'use strict';

// Blocks of the language `console` show commands after a prompt, and their output. The copy button
// and a selection must give the commands alone, so that they run as pasted.
for (const code of document.querySelectorAll('code.language-console')) {
  const prompt = '$ ';
  const commands = [];
  let isCommand = false;
  const lines = code.textContent.replace(/\n$/, '').split('\n').map((line) => {
    const isContinued = isCommand && commands.at(-1).endsWith('\\');
    isCommand = isContinued || line.startsWith(prompt);
    const text = document.createElement('span');
    if (!isCommand) {
      text.className = 'console-output';
      text.textContent = `${line}\n`;
      return [text];
    }
    const command = isContinued ? line : line.slice(prompt.length);
    commands.push(command);
    text.className = 'console-command';
    text.textContent = `${command}\n`;
    if (isContinued) {
      return [text];
    }
    const start = document.createElement('span');
    start.className = 'console-prompt';
    start.textContent = prompt;
    return [start, text];
  });
  if (commands.length > 0) {
    code.replaceChildren(...lines.flat());
    // mdBook's copy button reads this property.
    Object.defineProperty(code, 'innerText', { value: `${commands.join('\n')}\n` });
  }
}
