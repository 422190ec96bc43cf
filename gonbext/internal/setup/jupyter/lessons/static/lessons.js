// An extension of JupyterLab, as webpack's module federation loads one: the notebooks of the
// folder that JupyterLab opens whose names begin with two digits, as those of the lessons do,
// stand in the launcher, in the order of its README.md.
(() => {
  let shared;
  const load = async name => (await Object.values(shared[name])[0].get())();
  const lessons = (ILauncher, LabIcon) => ({
    id: 'gonbext:lessons',
    autoStart: true,
    optional: [ILauncher], // Notebook 7 has none
    activate: async (app, launcher) => {
      if (!launcher) return;
      const folder = await app.serviceManager.contents.get('', { content: true });
      const names = folder.content.map(f => f.name).filter(name => /^\d\d-.*\.ipynb$/.test(name));
      const page = folder.content.some(f => f.name === 'README.md') ? (await app.serviceManager.contents.get('README.md', { content: true })).content : '';
      const place = name => page.includes(`(${name})`) ? page.indexOf(`(${name})`) : page.length;
      names.sort((a, b) => place(a) - place(b) || a.localeCompare(b));
      names.forEach((name, i) => {
        const number = name.slice(0, 2), title = name.slice(3, -6).replaceAll('-', ' ').replace(/\bgpu\b/, 'GPU');
        const command = `gonbext:lesson-${number}-${i}`;
        const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 52 52"><rect x="4" y="4" width="44" height="44" rx="9" fill="#47a"/><text x="26" y="35" font-family="sans-serif" font-size="25" font-weight="600" fill="#fff" text-anchor="middle">${Number(number)}</text></svg>`;
        app.commands.addCommand(command, {
          label: title[0].toUpperCase() + title.slice(1),
          icon: new LabIcon({ name: command, svgstr }),
          caption: `Open ${name}`,
          execute: () => app.commands.execute('docmanager:open', { path: name }),
        });
        launcher.add({ command, category: 'Lessons', rank: i });
      });
    },
  });
  (window._JUPYTERLAB ??= {}).gonbext = {
    init: scope => { shared = scope; },
    get: async () => {
      const [launcher, components] = await Promise.all(['@jupyterlab/launcher', '@jupyterlab/ui-components'].map(load));
      return () => ({ __esModule: true, default: lessons(launcher.ILauncher, components.LabIcon) });
    },
  };
})();
