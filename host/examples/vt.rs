
use mireg::backend::*; use mireg::backend::{cpu::Cpu,emulated::Emulated}; use gpu::params::Affine; use mireg::image::StoredImage; use mireg::*; use glam::DVec3;
fn main(){
    let n=20usize; let g=Geometry::axis_aligned([n,n,n],DVec3::ONE,DVec3::ZERO);
    let mut s=1u64; let mut r=move||{s=s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);(s>>40) as f32/(1<<24) as f32};
    let v=Volume{geometry:g,voxels:(0..n*n*n).map(|_|r()).collect(),pixel:PixelType::F32};
    let m=StoredImage::new(&v,(0.0,1.0),1024);
    let map=Affine{rows:[[1.0,0.,0.,2.5],[0.,1.,0.,0.3],[0.,0.,1.,0.2]]};
    let (na,nb)=(300u32,257u32);
    let mut samples:Vec<Sample>=(0..na+nb).map(|_|Sample{voxel:[(r()*19.0) as u32,(r()*19.0) as u32,(r()*19.0) as u32],value:r()*65535.0}).collect();
    for sorted in [false,true]{ if sorted { let (a,b)=samples.split_at_mut(na as usize); a.sort_by(|x,y|x.value.total_cmp(&y.value)); b.sort_by(|x,y|x.value.total_cmp(&y.value)); }
    for (ga,gb) in [(0..na,na..na+nb),(0..na,na..na),(0..64,na..na+nb),(0..na,na..na+64),(na-64..na,na..na+64),(0..64,na..na+64)] { for mode in 0..4 { gpu::math::apart::MODE.store(mode,std::sync::atomic::Ordering::Relaxed);
        let groups=[Group{a:ga.clone(),b:gb.clone()}];
        let pair=ViolaPair{samples:&samples,groups:&groups,moving:&m,sigmas:Sigmas{fixed:900.0,moving:1500.0,joint:None},exponentials:Exponentials::Exact};
        let a=Cpu.load_viola(pair).unwrap().slopes(&[map]).unwrap(); let b=Emulated::default().load_viola(pair).unwrap().slopes(&[map]).unwrap();
        println!("sorted {sorted} {ga:?} {gb:?} mode {mode}: {} {} {:e}",a[0].0==b[0].0,a[0].1==b[0].1,a[0].1[0][3]-b[0].1[0][3]);
    }}}
}
