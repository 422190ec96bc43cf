// The parts of ECharts that the report's charts are made of, and no others. Legends and colour
// scales are the script's.
export { init } from "echarts/core";
import { use } from "echarts/core";
import { BarChart, HeatmapChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, HeatmapChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer]);
