//! Which of a machine's GPUs an engine may use.

use super::card::{Gpu, MigInstance};

/// The variable by which CUDA is told.
pub const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// Which of a machine's GPUs an engine may use, as `CUDA_VISIBLE_DEVICES` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible(Option<Vec<String>>);

impl Visible {
    /// All of them.
    pub const ALL: Self = Self(None);

    /// Those that the variable's value names, up to the first that is none: numbers in the order of
    /// the bus, or beginnings of UUIDs. An empty one hides all.
    pub fn of(value: &str) -> Self {
        Self(Some(
            value
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect(),
        ))
    }

    /// As this process has the variable, which its children inherit.
    #[expect(
        clippy::disallowed_methods,
        reason = "what the driver itself reads from this process's environment"
    )]
    pub fn from_environment() -> Self {
        std::env::var(VARIABLE).map_or(Self::ALL, |value| Self::of(&value))
    }

    /// The GPUs that may be used, each once; of one that is cut, only the instances that may be.
    pub fn select(&self, gpus: &[Gpu]) -> Vec<Gpu> {
        let Some(names) = &self.0 else {
            return gpus.to_vec();
        };
        let mut chosen: Vec<Gpu> = Vec::new();
        for name in names {
            let Some((gpu, instance)) = find(name, gpus) else {
                break;
            };
            let place = chosen.iter().position(|known| known.index == gpu.index);
            let place = place.unwrap_or_else(|| {
                let mut gpu = gpu.clone();
                if instance.is_some() {
                    gpu.instances.clear();
                }
                chosen.push(gpu);
                chosen.len() - 1
            });
            if let Some(instance) = instance
                && !chosen[place].instances.contains(instance)
            {
                chosen[place].instances.push(instance.clone());
            }
        }
        chosen
    }
}

/// The GPU of this name, and which of its instances.
fn find<'g>(name: &str, gpus: &'g [Gpu]) -> Option<(&'g Gpu, Option<&'g MigInstance>)> {
    if let Ok(index) = name.parse::<u32>() {
        let gpu = gpus.iter().find(|gpu| gpu.index == index)?;
        return Some((gpu, None));
    }
    if name.len() > "GPU-".len() && name.starts_with("GPU-") {
        let gpu = gpus.iter().find(|gpu| gpu.uuid.starts_with(name))?;
        return Some((gpu, None));
    }
    let named = |instance: &&MigInstance| {
        name.len() > "MIG-".len() && !instance.uuid.is_empty() && instance.uuid.starts_with(name)
    };
    gpus.iter().find_map(|gpu| {
        let instance = gpu.instances.iter().find(named)?;
        Some((gpu, Some(instance)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpus() -> Vec<Gpu> {
        let instance = |profile: &str, uuid: &str| MigInstance {
            profile: profile.to_owned(),
            uuid: uuid.to_owned(),
        };
        let gpu = |index, uuid: &str, instances| Gpu {
            index,
            uuid: uuid.to_owned(),
            instances,
            ..Gpu::default()
        };
        let parts = vec![instance("1g.18gb", "MIG-a1"), instance("2g.35gb", "MIG-b2")];
        vec![
            gpu(0, "GPU-aa11", Vec::new()),
            gpu(1, "GPU-bb22", Vec::new()),
            gpu(2, "GPU-cc33", parts),
        ]
    }

    fn indices(value: &str) -> Vec<u32> {
        let chosen = Visible::of(value).select(&gpus());
        chosen.iter().map(|gpu| gpu.index).collect()
    }

    #[test]
    fn numbers_and_names_select() {
        assert_eq!(Visible::ALL.select(&gpus()).len(), 3);
        assert_eq!(indices("1"), [1]);
        assert_eq!(indices("2, 0"), [2, 0]);
        assert_eq!(indices("GPU-bb"), [1]);
        assert_eq!(indices("1,1"), [1]);
    }

    #[test]
    fn what_is_no_gpu_ends_the_list() {
        assert_eq!(indices("0,7,1"), [0]);
        assert_eq!(indices("-1"), [0; 0]);
        assert_eq!(indices(""), [0; 0]);
        assert_eq!(indices("GPU-"), [0; 0]);
        assert_eq!(indices("NoDevFiles"), [0; 0]);
    }

    #[test]
    fn an_instance_is_its_gpu_without_the_others() {
        let chosen = Visible::of("MIG-b2").select(&gpus());
        assert_eq!((chosen.len(), chosen[0].index), (1, 2));
        assert_eq!(chosen[0].instances.len(), 1);
        assert_eq!(chosen[0].instances[0].profile, "2g.35gb");
        assert_eq!(
            Visible::of("MIG-a1,MIG-b2").select(&gpus())[0]
                .instances
                .len(),
            2
        );
    }
}
