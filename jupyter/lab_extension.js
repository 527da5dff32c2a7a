// The course's one piece of front end, for JupyterLab 4 and Notebook 7: links land at the section
// that they name, a prediction leads on to its cell, which opens the answer, and what was changed
// since it ran, or needs a kernel that has gone, says so. Everything works without it, less smoothly.

"use strict";

(() => {
  const FOLLOW_LINK = ":handle-local-link"; // of "rendermime" in JupyterLab, else of "application"
  const REMEMBERED = "pytree-course:link";
  const RESTARTED = "The kernel was restarted: run the cells again, from the top.";
  const STILL_WANTED = 60_000; // ms, in which a notebook that a link opens has surely appeared

  const STYLE = `
    .pytree-answer.jp-mod-dirty::after {
      content: "Changed since it ran: run this cell, then the check below it.";
      display: block;
      margin: 2px 0 0 calc(var(--jp-cell-prompt-width) + 2 * var(--jp-cell-padding));
      border-left: 4px dashed var(--jp-warn-color1); padding-left: 8px;
      color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1);
    }
    .pytree-answer.jp-mod-dirty + .jp-CodeCell .jp-Cell-outputWrapper { opacity: 0.5; }
    .jupyter-widgets-disconnected::before {
      content: "${RESTARTED}" !important;
    }
    .jupyter-widgets-disconnected .jupyter-widgets-disconnected::before { content: none !important; }`;

  // JupyterLab applies a link's fragment before a notebook that is only being opened has its
  // content, and Notebook opens it in another tab of the browser without any. So the fragment is
  // remembered where both find it.
  function remember(panels, { path, id }) {
    if (id && !panels().some((panel) => panel.context.path === path)) {
      window.localStorage.setItem(REMEMBERED, JSON.stringify({ path, id, at: Date.now() }));
    }
  }

  function recall(path) {
    const link = JSON.parse(window.localStorage.getItem(REMEMBERED));
    if (link?.path !== path) return null;
    window.localStorage.removeItem(REMEMBERED);
    return Date.now() - link.at < STILL_WANTED ? link.id : null;
  }

  // What is far down is drawn late, and what is drawn late moves what is below it: the heading is
  // looked for until it stays where it is, or somebody goes elsewhere.
  async function land({ content: notebook }, fragment) {
    const name = CSS.escape(decodeURIComponent(fragment.slice(1)));
    let [calm, gone, before] = [0, false, null];
    for (const kind of ["wheel", "keydown", "pointerdown"]) {
      notebook.node.addEventListener(kind, () => (gone = true), { once: true });
    }
    for (let tries = 0; calm < 5 && tries < 200 && !gone && !notebook.isDisposed; tries += 1) {
      const heading = notebook.node.querySelector(`[data-jupyter-id="${name}"]`);
      if (heading) {
        activate(notebook, (cell) => cell.node.contains(heading));
        heading.scrollIntoView();
      } else {
        await notebook.setFragment(`#heading=${fragment.slice(1)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      const now = heading?.getBoundingClientRect().top;
      calm = now !== undefined && now === before ? calm + 1 : 0;
      before = now;
    }
  }

  // Make the first such cell the one that Shift+Enter runs.
  function activate(notebook, isMeant) {
    const index = notebook.widgets.findIndex(isMeant);
    if (index >= 0) {
      notebook.deselectAll();
      notebook.activeCellIndex = index;
      notebook.mode = "command";
      notebook.activate();
    }
  }

  function leadOn(panels, control) {
    for (const { content: notebook } of panels()) {
      const asked = notebook.widgets.findIndex((cell) => cell.node.contains(control));
      if (asked >= 0) {
        activate(notebook, (cell, index) => index > asked && cell.model.type === "code");
      }
    }
  }

  // JupyterLab writes into each notebook which Python its kernel has: nothing that is to be saved.
  function keepClean(model) {
    model.metadataChanged.connect((_, { key }) => {
      if (key === "language_info" && !model.dirty) {
        queueMicrotask(() => (model.dirty = false));
      }
    });
  }

  // The cells by which an answer of the learner's, or of the lesson's, is known.
  function watchCells({ widgets }) {
    widgets.forEach((cell, index) => {
      cell.toggleClass("pytree-answer", cell.model.id.endsWith("-answer"));
      if (widgets[index - 1]?.model.id === `${cell.model.id}-predict`) {
        cell.model.stateChanged.connect((_, { name, newValue }) => {
          const answer = widgets[index + 1]?.node.querySelector("details");
          if (name === "executionCount" && newValue && answer) answer.open = true;
        });
      }
    });
  }

  const plugin = {
    id: "pytree-course:plugin",
    description: "Links land at their section; predictions lead on; changed answers say so.",
    autoStart: true,
    activate: (app) => {
      const panels = () => [...app.shell.widgets("main")].filter((each) => each.context?.path);
      app.commands.commandExecuted.connect((_, { id, args }) => {
        if (id.endsWith(FOLLOW_LINK)) {
          remember(panels, args);
        }
      });
      app.docRegistry.addWidgetExtension("Notebook", {
        createNew: (panel, context) => {
          keepClean(context.model);
          panel.sessionContext.statusChanged.connect((_, status) => {
            if (!status.endsWith("restarting")) return;
            const notice = { message: RESTARTED, type: "warning", options: { autoClose: 15_000 } };
            void app.commands.execute("apputils:notify", notice);
          });
          void Promise.all([context.ready, panel.revealed]).then(() => {
            if (panel.isDisposed) return; // Notebook opens it in another tab of the browser
            watchCells(panel.content);
            const fragment = recall(context.path);
            if (fragment) void land(panel, fragment);
          });
        },
      });
      for (const [kind, tag] of Object.entries({ change: "INPUT", click: "BUTTON" })) {
        document.addEventListener(kind, ({ target }) => {
          const control = target.closest?.(`.pytree-predict ${tag}`);
          if (control) leadOn(panels, control);
        });
      }
      document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
    },
  };

  window._JUPYTERLAB ??= {}; // a federated module, written by hand: it needs no front-end build
  window._JUPYTERLAB["pytree-course"] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
