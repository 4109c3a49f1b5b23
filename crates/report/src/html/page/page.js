// What happens on the page: charts are drawn when they come into sight, themes change, links open
// what they lead to.

const root = document.documentElement;

/** Makes what waits within `part` and is in no closed part of it: content first, then charts. */
function make(part) {
  const waiting = [...part.querySelectorAll("script[type='text/plain']")];
  return Promise.all(waiting.filter((one) => !one.closest("details:not([open])")).map(take));
}

async function take(script) {
  const parent = script.parentElement;
  // Gone before anyone else can take it.
  script.remove();
  parent.ariaBusy = "true";
  try {
    const response = unpacked(script.textContent);
    if (parent.matches(".figures")) {
      for (const chart of await response.json()) figure(chart, parent);
    } else {
      parent.insertAdjacentHTML("beforeend", await response.text());
      await make(parent);
    }
  } catch (error) {
    parent.append("This browser cannot show what belongs here.");
    throw error;
  } finally {
    parent.ariaBusy = null;
  }
}

/** What was packed into the page: deflated, in base 64. */
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream);
}

/** Shows the target of the address, and all that it is in. */
function follow() {
  const found = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const innermost = found && found.closest("details");
  if (!innermost) return;
  for (let one = innermost; one; one = one.parentElement.closest("details")) one.open = true;
  innermost.scrollIntoView();
}

const isDark = () => getComputedStyle(root).colorScheme === "dark" ||
  (getComputedStyle(root).colorScheme !== "light" &&
    matchMedia("(prefers-color-scheme: dark)").matches);

/** Takes a theme, or with nothing the reader's own. */
function setTheme(theme) {
  root.style.colorScheme = theme;
  // The button says what it does: it leads to the other theme.
  themeButton.textContent = isDark() ? "Light" : "Dark";
  figures.forEach(redraw);
}

const themeButton = document.querySelector("button.theme");
themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  setTheme(isDark() ? "light" : "dark");
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  setTheme(root.style.colorScheme);
});

// Paper is white, and narrower than most screens.
let onScreen = "";
addEventListener("beforeprint", () => {
  onScreen = root.style.colorScheme;
  setTheme("light");
  figures.forEach(({ drawn }) => drawn.setSize({ width: 640, height: 240 }));
});
addEventListener("afterprint", () => setTheme(onScreen));

document.addEventListener("toggle", (event) => event.target.open && make(event.target), true);
addEventListener("hashchange", follow);
// A link to where the address already leads changes nothing, but what it leads to may be closed.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.hash === location.hash) follow();
});
setTheme("");
make(document);
follow();
